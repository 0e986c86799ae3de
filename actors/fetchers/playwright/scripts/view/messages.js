// Tells what a page says to whoever acts on it: that something went wrong, or well. In the words and signs that sites use for it.
weft.part((view) => {
  const UP = 3, SHORT = 160, MANY = 60, MANY_STYLES = 5000;
  const SPOKEN = '[role="alert"], [role="status"], [role="alertdialog"], [role="log"], [aria-live]:not([aria-live="off"])';
  const STYLED = ['toast', 'snackbar', 'alert', 'notif', 'notice', 'flash', 'message', 'feedback', 'error', 'invalid', 'danger', 'success'];
  const UNSTYLED = `${SPOKEN}, [aria-invalid="true"]`, STYLE = new RegExp(STYLED.join('|'), 'i');
  const MESSAGES = [UNSTYLED, ...STYLED.map((name) => `[class*="${name}" i]`)].join(', ');
  const MESSAGE = /(?:^| )(?:toasts?|toaster|snack ?bar|alerts?|notif\w*|notices?|flash|messages?|msg|feedback|callout|errors?|invalid|danger|warnings?|success)(?: |$)/;
  const LOUD = /(?:^| )(?:toasts?|toaster|snack ?bar|alerts?|flash|feedback|callout|errors?|invalid|danger|success)(?: |$)/; // what lists of messages have not
  const SERIOUS = '[role="alert"], [role="alertdialog"], [aria-live="assertive"]';
  const HOLDS = 'button, a[href], input, select, textarea, li, [role="button"]', ACTED_ON = `${HOLDS}, label, option`;
  const BAD_CLASS = /(?:^| )(?:errors?|danger|invalid|fail\w*|critical|negative|destructive|red)(?: |$)/;
  const GOOD_CLASS = /(?:^| )(?:success\w*|valid|positive|confirm\w*|green)(?: |$)/;
  const NO_ERROR = /(?<!\p{L})(?:no|0|zero|without|keine?|ohne|sin|sans|aucune?|senza|nessun|sem|nenhum|geen|zonder)\s+(?:\p{L}+\s+)?(?:errors?|fehler|erreurs?|errores|errori?|erros?|fouten|problems?)(?!\p{L})/giu;
  const NOT = /(?<!\p{L})(?:not|never|cannot|can['’]t|couldn['’]t|unable|nicht|konnte|pas|impossible|no se|non|não|niet)(?!\p{L})/iu;
  const BAD = start([
    'errors?', 'fail(?:ed|ure|s)?', 'invalid', 'incorrect', 'wrong', 'denied', 'rejected', 'declined', 'expired', 'unavailable', 'unable', 'could not', "couldn['’]t",
    'cannot', 'try again', 'went wrong', 'not found', 'fehler\\p{L}*', 'ungültig\\p{L}*', 'fehlgeschlagen', 'falsch\\p{L}*', 'abgelehnt', 'abgelaufen', 'leider',
    'erreurs?', 'échec', 'échoué', 'invalides?', 'incorrecte?', 'refusée?', 'expirée?',
    'errores', 'inválid[oa]s?', 'incorrect[oa]s?', 'falló', 'fallid[oa]', 'rechazad[oa]', 'caducad[oa]',
    'errore', 'errori', 'non valid[oa]', 'fallit[oa]', 'rifiutat[oa]', 'scadut[oa]', 'erros?', 'falhou', 'recusad[oa]', 'expirad[oa]',
    'fouten?', 'ongeldige?', 'mislukt', 'geweigerd', 'verlopen', 'błąd\\p{L}*', 'ошибк\\p{L}*', 'неверн\\p{L}*', 'не удалось',
  ], '错误|失败|无效|錯誤|失敗|無效|エラー|無効|오류|실패');
  // What a form says beforehand as well.
  const ASKS = start([
    'must (?:be|not|contain|have)', '(?:is|are) required', 'required field', 'please (?:enter|fill|select|choose|provide|correct)', 'erforderlich', 'pflichtfeld', 'obligatoires?',
    'obligatori[oa]s?', 'obrigatóri[oa]s?', 'verplicht',
  ], '必填|必須|필수');
  const GOOD = start([
    'success\\p{L}*', 'succeeded', 'saved', 'sent', 'submitted', 'thank you', 'thanks', 'completed?', 'added to', 'updated', 'created', 'confirmed', 'placed', 'received', 'deleted',
    'removed', 'copied', 'uploaded', 'subscribed', 'welcome back', 'erfolg\\p{L}*', 'gespeichert', 'gesendet', 'danke', 'hinzugefügt', 'abgeschickt', 'bestätigt', 'aktualisiert', 'gelöscht',
    'succès', 'réussie?', 'enregistrée?s?', 'envoyée?s?', 'merci', 'ajoutée?s?', 'confirmée?s?', 'éxito', 'exitosamente', 'guardad[oa]s?', 'enviad[oa]s?', 'gracias', 'añadid[oa]s?', 'confirmad[oa]s?',
    'successo', 'salvat[oaie]', 'inviat[oaie]', 'grazie', 'aggiunt[oaie]', 'sucesso', 'salv[oa]s?', 'obrigad[oa]', 'adicionad[oa]s?', 'opgeslagen', 'verzonden', 'gelukt', 'bedankt', 'toegevoegd',
    'zapisano', 'сохранен\\p{L}*', 'отправлен\\p{L}*', 'спасибо',
  ], '成功|保存|已发送|谢谢|完了|送信|저장|완료');

  function start(words, unspaced) {
    return new RegExp(`(?<!\\p{L})(?:${words.join('|')})(?!\\p{L})|${unspaced}`, 'iu');
  }

  const classes = (element) => view.spoken(view.attribute(element, 'class') ?? '').toLowerCase();

  function* around(element) {
    for (let node = element, up = 0; node && up <= UP; node = view.above(node), up++) yield node;
  }

  // The part of the page that is there to say something, around an element or itself.
  function messageOf(element) {
    for (const node of around(element)) if (view.matches(node, SPOKEN) || MESSAGE.test(classes(node))) return node;
    return null;
  }

  // Whether words say that something went wrong, or well; nothing where they say neither. Of those that `stand` on a page all along only
  // what is there to say so counts; what one acts on and lists say what they are about.
  function toneOf(element, words, stands = false) {
    const message = messageOf(element);
    if (!message && (stands || words.length > SHORT || view.matches(element, ACTED_ON) || view.find(element, HOLDS))) return '';
    const styled = message ? [...around(element)].map(classes).join(' ') : '';
    if (stands && !LOUD.test(styled) && !BAD_CLASS.test(styled) && !GOOD_CLASS.test(styled) && ![...around(element)].some((node) => view.matches(node, SPOKEN))) return '';
    const left = words.replace(NO_ERROR, ' ');
    const serious = BAD_CLASS.test(styled) || (message && view.matches(message, SERIOUS));
    if (BAD.test(left) || (GOOD.test(left) && NOT.test(left)) || (ASKS.test(left) && (serious || (message && !stands)))) return 'Error';
    if (GOOD.test(left) || left !== words) return 'Success';
    return BAD_CLASS.test(styled) ? 'Error' : GOOD_CLASS.test(styled) ? 'Success' : '';
  }

  // What stands on the page now and says so.
  function standingTones() {
    const tones = new Set();
    let looked = 0;
    for (const element of standing()) {
      if (looked >= MANY || tones.size >= 2) break;
      if (!view.shows(element) || !view.isVisible(element)) continue;
      looked += 1;
      if (view.attribute(element, 'aria-invalid') === 'true') tones.add('Error');
      else if (messageOf(element) === element) tones.add(toneOf(element, view.textOf(element, SHORT), true));
    }
    return tones;
  }

  // Whether a class calls something a message: told once for all that have it, as long as the page stands.
  function isStyled(style) {
    const styles = view.known.styles?.size < MANY_STYLES ? view.known.styles : (view.known.styles = new Map());
    let styled = styles.get(style);
    if (styled === undefined) styles.set(style, (styled = STYLE.test(style)));
    return styled;
  }

  // All that MESSAGES fits: which no selector finds as soon.
  function* standing() {
    const marked = [...view.findAll(document, '[role], [aria-live], [aria-invalid="true"]')]; // sooner found than what is looked for among them
    const unstyled = new Set(marked.filter((one) => view.matches(one, UNSTYLED)));
    const all = view.findAll(document, unstyled.size ? `[class], ${UNSTYLED}` : '[class]');
    for (let index = 0; index < all.length; index++) {
      const element = all[index];
      if (isStyled(view.attribute(element, 'class') ?? '') || unstyled.has(element)) yield element;
    }
  }

  Object.assign(view, { MESSAGES, SPOKEN, messageOf, toneOf, standingTones });
});
