// Puts away what lies over the page: refuses consent where it can, else closes, else hides; never agrees to anything.
(() => {
  const CONSENT = /cookie|consent|gdpr|dsgvo|privacy|datenschutz|einwillig|zustimm|données personnelles|confidentialité|privacidad|consentimiento|privacidade|toestemming|prywatno|riservatezza|soukromí|samtyc?kk?e|integritet|privatliv|personvern|eväste|yksityisyy|gizlilik|çerez|конфиденциальн|конфіденційн|куки|απόρρητο|adatvéd|confidențialit|隐私|隱私|プライバシー|クッキー|개인정보|쿠키|partners? (store|process)/i;
  const REJECT = /^(reject|decline|refuse|deny|disagree|do not (accept|consent|sell)|don't accept|no,? thanks|only (necessary|essential|required)|(necessary|essential|required)( cookies)? only|use (necessary|essential)|continue without( accepting| agreeing)?|(alle )?ablehnen|nur (notwendige|erforderliche|essenzielle)|tout refuser|refuser|continuer sans accepter|rechazar|solo (necesarias|necesarios)|rifiuta|recusar|rejeitar|(alles )?(weigeren|afwijzen)|alleen noodzakelijke|odrzuć|tylko niezbędne|odmítnout|pouze nezbytné|avvisa|neka|endast nödvändiga|afvis|kun nødvendige|avvis|avslå|hylkää|kiellä|vain välttämättömät|(tümünü )?reddet|отклонить|отказаться|только необходимые|відхилити|απόρριψη|elutasít|(全部)?拒[绝絕]|[仅僅]必要|すべて拒否|拒否|必要なもののみ|(모두 )?거부)/i;
  const AGREE = /accept|agree|allow|consent|akzeptier|zustimm|einverstanden|accepter|aceptar|accett|aceitar|toestaan|akceptuj|zgadzam|souhlas|přijmout|godkänn|acceptera|tillåt|tillad|godta|tillat|aksepter|hyväksy|salli|kabul|принять|соглас|разреш|прийняти|погодж|дозвол|αποδοχή|elfogad|接受|同意|允许|允許|許可|受け入れ|동의|수락|허용|subscribe|sign up|yes/i;
  const CLOSE = /^(×|✕|✖|x|close|dismiss|not now|maybe later|later|skip|no,? thanks|got it|ok|okay|schließen|später|fermer|plus tard|cerrar|chiudi|fechar|sluiten|zamknij|zavřít|stäng|luk|lukk|sulje|kapat|закрыть|закрити|κλείσιμο|bezárás|关闭|關閉|閉じる|닫기)$/i;
  const KNOWN = [
    '#onetrust-reject-all-handler', '#CybotCookiebotDialogBodyButtonDecline', '#didomi-notice-disagree-button',
    '.didomi-continue-without-agreeing', '[data-testid="uc-deny-all-button"]', '.cky-btn-reject', '.cmplz-deny',
    '.cc-deny', '#axeptio_btn_dismiss', '.iubenda-cs-reject-btn', '#truste-consent-required', '.osano-cm-denyAll',
    '#hs-eu-decline-button', '.fc-cta-do-not-consent', '#tarteaucitronAllDenied2', '[data-cky-tag="reject-button"]',
  ].join(',');
  const BUTTONS = 'button, [role="button"], a, input[type="button"], input[type="submit"], summary';
  const MANY = 6000, DEEP = 12, WALL = 2000;

  const shows = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.getBoundingClientRect().width > 0;
  const words = (element) => (element.getAttribute('aria-label') || element.innerText || element.value || '').trim().replace(/\s+/g, ' ');

  function* elements() {
    let left = MANY;
    const todo = [document];
    while (todo.length) {
      for (const element of todo.shift().querySelectorAll('*')) {
        if (left-- <= 0) return;
        yield element;
        if (element.shadowRoot) todo.push(element.shadowRoot);
      }
    }
  }

  function overlays() {
    const found = [];
    const area = innerWidth * innerHeight;
    for (const element of elements()) {
      if (found.some((known) => known.contains(element))) continue;
      const style = getComputedStyle(element);
      const dialog = element.matches('dialog[open], [role="dialog"], [role="alertdialog"], [aria-modal="true"]');
      const floats = style.position === 'fixed' || style.position === 'sticky' || (dialog && style.position === 'absolute');
      if (!(floats || (element.localName === 'dialog' && dialog)) || !shows(element)) continue;
      const box = element.getBoundingClientRect();
      const share = (Math.min(box.width, innerWidth) * Math.min(box.height, innerHeight)) / area;
      const text = (element.innerText || '').slice(0, 4000);
      const asks = CONSENT.test(text) || /consent|cookie/i.test(`${element.id} ${element.className}`);
      const covers = share > 0.5 && (Number(style.zIndex) > 0 || dialog);
      if (asks ? share > 0.01 : dialog || covers) found.push(element);
    }
    return found;
  }

  function inside(overlay) {
    const buttons = [];
    const todo = [overlay];
    while (todo.length) {
      const root = todo.shift();
      if (root.shadowRoot) todo.push(root.shadowRoot);
      for (const element of root.querySelectorAll('*')) {
        if (element.shadowRoot) todo.push(element.shadowRoot);
        if (element.matches(BUTTONS) && shows(element)) buttons.push(element);
      }
    }
    return buttons;
  }

  function leads(element) {
    const target = element.closest('a[href]')?.getAttribute('href') ?? '';
    return target !== '' && !/^(#|javascript:)/.test(target);
  }

  function button(overlay) {
    const buttons = inside(overlay).filter((element) => !leads(element));
    return overlay.querySelector(KNOWN) ??
      buttons.find((element) => REJECT.test(words(element))) ??
      buttons.find((element) => !AGREE.test(words(element)) &&
        (CLOSE.test(words(element)) || /\bclose\b|dismiss/i.test(`${element.className} ${element.id}`)));
  }

  function hide(overlay) {
    overlay.style.setProperty('display', 'none', 'important');
    for (const element of [document.documentElement, document.body])
      for (const name of ['overflow', 'position', 'height', 'filter', 'pointer-events'])
        if (element && getComputedStyle(element)[name] !== '') element.style.setProperty(name, { overflow: 'visible', position: 'static', height: 'auto', filter: 'none', 'pointer-events': 'auto' }[name], 'important');
  }

  // A wall that is the page itself covers nothing: what refuses there is pressed, and nothing is hidden.
  function refusal() {
    const text = document.body?.innerText ?? '';
    if (text.length > WALL || !CONSENT.test(text)) return undefined;
    return inside(document.body).find((element) => !leads(element) && REJECT.test(words(element)));
  }

  const done = [];
  const lying = overlays();
  const press = lying.length ? undefined : refusal();
  if (press) {
    press.click();
    done.push({ pressed: true, kind: 'consent' });
  }
  for (const overlay of lying.slice(0, DEEP)) {
    const press = button(overlay);
    if (press) press.click();
    else hide(overlay);
    done.push({ pressed: Boolean(press), kind: CONSENT.test(overlay.innerText || overlay.textContent || '') ? 'consent' : 'overlay' });
  }
  return done;
})()
