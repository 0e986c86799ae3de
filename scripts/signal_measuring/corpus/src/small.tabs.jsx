import { Tab, Tabs } from '@mui/material';
import { show } from '../react.jsx';

show(<><Tabs value={0}><Tab label="Today" /><Tab label="Tomorrow" /></Tabs><p>Fair, with a little wind from the hills. The cloth may hang outside.</p></>);
