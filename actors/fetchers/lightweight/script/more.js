// Goes on down the page: scrolls to its end and presses what says that it loads more; tells how much there is to see.
(press) => {
  const MORE = /^(load|show|view|see)\s+(\d+\s+)?more\b|^more\s+(results|items|posts|comments|products)\b|^(mehr|weitere)\b.{0,20}(laden|anzeigen)|^(charger|voir|afficher)\s+plus|^(cargar|mostrar|ver)\s+m[aá]s/i;
  let pressed = 0;
  if (press) {
    for (const button of document.querySelectorAll('button, [role=button], a[href="#"], a:not([href]), input[type=button]')) {
      const says = (button.textContent || button.value || button.getAttribute('aria-label') || '').trim();
      if (says.length < 40 && MORE.test(says) && !button.disabled) { button.click(); pressed += 1; break; }
    }
  }
  const root = document.scrollingElement || document.documentElement;
  window.scrollTo(0, root.scrollHeight || 1e6);
  window.dispatchEvent(new Event('scroll'));
  document.dispatchEvent(new Event('scroll'));
  return JSON.stringify({ pressed, chars: document.body ? document.body.textContent.length : 0 });
}
