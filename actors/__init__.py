"""Who does the work: independent actors that meet on the bus, and what starts and keeps them."""
