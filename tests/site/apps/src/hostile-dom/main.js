for (;;) document.body.insertAdjacentHTML('beforeend', '<p>again</p>'.repeat(10_000));
