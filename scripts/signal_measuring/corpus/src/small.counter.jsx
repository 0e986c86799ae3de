import { useState } from 'react';
import { show } from '../react.jsx';

function Page() { const [count, set] = useState(3); return <main><h1>Bobbins</h1><p>There are {count} bobbins on the rack.</p><button type="button" onClick={() => set(count + 1)}>One more</button></main>; }
show(<Page />);
