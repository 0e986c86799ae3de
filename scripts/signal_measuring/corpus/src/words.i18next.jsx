import i18next from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import { show, useThreads } from '../react.jsx';

await i18next.use(initReactI18next).init({ lng: navigator.language.slice(0, 2), fallbackLng: 'en', resources: { en: { translation: { head: 'We keep {{count}} kinds', line: '{{name}}, {{metres, number}} metres: {{note}}' } } } });
function Page() { const { t } = useTranslation(); const threads = useThreads(); return <><h1>{t('head', { count: threads.length })}</h1>{threads.map((thread) => <p key={thread.id}>{t('line', thread)}</p>)}</>; }
show(<Page />);
