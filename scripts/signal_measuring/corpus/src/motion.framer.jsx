import { AnimatePresence, motion } from 'motion/react';
import { show, useThreads } from '../react.jsx';

function Page() {
  const threads = useThreads();
  return <AnimatePresence mode="wait">{threads.length ? <motion.main key="full" initial={{ opacity: 0 }} animate={{ opacity: 1 }}>{threads.map((thread) => <motion.p key={thread.id} whileInView={{ opacity: 1 }}>{thread.name}: {thread.note}</motion.p>)}</motion.main> : <motion.p key="empty" exit={{ opacity: 0 }} transition={{ duration: 0.1 }}>Asking</motion.p>}</AnimatePresence>;
}
show(<Page />);
