import { makeAutoObservable, runInAction } from 'mobx';
import { observer } from 'mobx-react-lite';
import { getThreads, show } from '../react.jsx';

class Shelf { threads = []; constructor() { makeAutoObservable(this); } async load() { const found = await getThreads(); runInAction(() => { this.threads = found; }); } get count() { return this.threads.length; } }
const shelf = new Shelf();
const Page = observer(() => <>{shelf.threads.map((thread) => <p key={thread.id}>{thread.name}: {thread.note}</p>)}<b>{shelf.count} kinds</b></>);
show(<Page />);
shelf.load();
