import { useForm } from 'react-hook-form';
import { show } from '../react.jsx';

function Page() { const { register } = useForm(); return <form><h1>Sign in</h1><label>Name <input {...register('name')} /></label><label>Password <input type="password" {...register('password')} /></label><button type="submit">Go in</button><a href="/forgot">Forgotten your password?</a></form>; }
show(<Page />);
