import { FormattedDate, FormattedMessage, FormattedNumber, FormattedRelativeTime, IntlProvider } from 'react-intl';
import { show, useThreads } from '../react.jsx';

function Page() { return useThreads().map((thread) => <p key={thread.id}><FormattedMessage id="x" defaultMessage="{name} since {since}" values={{ name: thread.name, since: <FormattedDate value={new Date(Date.UTC(2020, thread.id, 3, 12))} month="long" year="numeric" /> }} /> <FormattedNumber value={thread.cents / 100} style="currency" currency="EUR" /> <FormattedRelativeTime value={-thread.id} unit="day" /> {thread.note}</p>); }
show(<IntlProvider locale="en"><Page /></IntlProvider>);
