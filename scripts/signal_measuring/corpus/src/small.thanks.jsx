import { motion } from 'motion/react';
import { show } from '../react.jsx';

show(<motion.main initial={{ opacity: 0 }} animate={{ opacity: 1 }}><h1>Thank you</h1><p>Your order has reached us and will leave the mill tomorrow.</p></motion.main>);
