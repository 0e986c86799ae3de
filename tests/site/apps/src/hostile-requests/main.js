for (let knock = 0; ; knock += 1) await fetch(`/apps/api/threads/1?${knock}`);
