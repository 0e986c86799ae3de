// pusher-js and the official client of Pusher's REST, in Node, against a Weft: one line of JSON for each case.
//
// Its argument is JSON: {base, key, config, app: {id, secret}, sessions: [two of the key's], foreign}.
import PusherJs from 'pusher-js'
import Pusher from 'pusher'

const given = JSON.parse(process.argv[2])
const { base, config, sessions } = given
const headers = { Authorization: `Bearer ${given.key}` }
const channelOf = (session) => `private-session-${session}`
const WAIT_MS = 15_000

const client = (key = config.key, others = {}) =>
  new PusherJs(key, {
    wsHost: config.host,
    wsPort: config.port,
    wsPath: config.path,
    forceTLS: config.tls,
    enabledTransports: ['ws'],
    cluster: 'local',
    channelAuthorization: { endpoint: `${base}/api/pusher/auth`, transport: 'ajax', headers },
    ...others,
  })
const server = (secret = given.app.secret) =>
  new Pusher({ appId: given.app.id, key: config.key, secret, host: config.host, port: String(config.port), useTLS: false })

const within = (promise, what) => {
  let timer
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error(`too late: ${what}`)), WAIT_MS) })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
const event = (bound, name) => within(new Promise((heard) => {
  const once = (data) => { bound.unbind(name, once); heard(data) }
  bound.bind(name, once)
}), name)
const subscribed = async (pusher, name) => {
  const channel = pusher.subscribe(name)
  await event(channel, 'pusher:subscription_succeeded')
  return channel
}
const TOLD = ['new_message', 'interact_response']
const gathered = (channel, count, names) => {
  const all = []
  return within(new Promise((done) => channel.bind_global((name, data) => {
    if (!names.includes(name)) return // what a slower socket hears yet of the case before
    all.push([name, data])
    if (all.length === count) done(all)
  })), `${count} of ${names}`)
}
const round = (session, query) => fetch(`${base}/api/agent/interact`, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    sessionId: session, query, url: 'https://shop.example/', domMode: 'semantic',
    interactiveTree: [{ i: '6', r: 'btn', n: 'Search' }],
  }),
})
const status = (promise) => promise.then((answer) => answer.status, (error) => error.status)
const same = (got, wanted) => {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) throw new Error(`${JSON.stringify(got)} is not ${JSON.stringify(wanted)}`)
}

const first = client()
const second = client()
const channel = channelOf(sessions[0])

const cases = {
  async connected() {
    await Promise.all([first, second].map((one) => one.connection.state === 'connected' || event(one.connection, 'connected')))
    if (!/^\d+\.\d+$/.test(first.connection.socket_id)) throw new Error(first.connection.socket_id)
  },
  async subscribed() {
    await Promise.all([subscribed(first, channel), subscribed(second, channel)])
  },
  async 'new_message and interact_response in order'() {
    const heard = gathered(first.channel(channel), 3, TOLD)
    same((await round(sessions[0], 'Click Search')).status, 200)
    const all = await heard
    same(all.map(([name]) => name), ['new_message', 'new_message', 'interact_response'])
    const messages = all.slice(0, 2).map(([, data]) => data)
    const read = await (await fetch(`${base}/api/session/${sessions[0]}/messages`, { headers })).json()
    same(messages.map((one) => one.message), read.messages)
    same(messages.map((one) => [one.type, one.sessionId, one.message.role]),
      [['new_message', sessions[0], 'user'], ['new_message', sessions[0], 'assistant']])
    const { sessionId, action, status: stands, currentStepIndex } = all[2][1]
    same([sessionId, action, stands, currentStepIndex], [sessions[0], 'click(6)', 'executing', 0])
  },
  async 'a round that comes again is told once'() {
    const heard = gathered(first.channel(channel), 1, [...TOLD, 'last'])
    same((await round(sessions[0], 'Click Search')).status, 200)
    await server().trigger(channel, 'last', {})
    same((await heard).map(([name]) => name), ['last'])
  },
  async 'triggered by Node'() {
    const both = [first, second].map((one) => gathered(one.channel(channel), 1, ['greeting']))
    same((await server().trigger(channel, 'greeting', { text: 'grüß dich ☃' })).status, 200)
    for (const one of both) same(await one, [['greeting', { text: 'grüß dich ☃' }]])
  },
  async 'a batch in order'() {
    const names = [...Array(10).keys()].map((one) => `n${one}`)
    const heard = gathered(first.channel(channel), 10, names)
    await server().triggerBatch([...Array(10).keys()].map((number) => ({ channel, name: `n${number}`, data: { number } })))
    same((await heard).map(([name, data]) => [name, data.number]), names.map((name, number) => [name, number]))
  },
  async 'a socket is left out'() {
    const heard = [1, 2].map((count, one) => gathered([first, second][one].channel(channel), count, ['others', 'all']))
    await server().trigger(channel, 'others', 1, { socket_id: first.connection.socket_id })
    await server().trigger(channel, 'all', 2)
    same((await heard[0]).map(([name]) => name), ['all'])
    same((await heard[1]).map(([name]) => name), ['others', 'all'])
  },
  async 'channels of all gateways'() {
    const info = await (await server().get({ path: `/channels/${channel}`, params: { info: 'subscription_count' } })).json()
    same(info, { occupied: true, subscription_count: 2 })
    const listed = await (await server().get({ path: '/channels', params: { filter_by_prefix: 'private-session-' } })).json()
    same(listed, { channels: { [channel]: {} } })
  },
  async 'a wrong secret triggers nothing'() {
    same(await status(server('another').trigger(channel, 'never', 1)), 401)
    same(await status(server('another').get({ path: '/channels' })), 401)
  },
  async 'no more than 10 KB'() {
    const heard = gathered(first.channel(channel), 1, ['large'])
    const bare = { 'Content-Type': 'application/json' }
    const send = (chars) => {
      const body = JSON.stringify({ name: 'large', channels: [channel], data: JSON.stringify('x'.repeat(chars)) })
      const query = server().createSignedQueryString({ method: 'POST', path: `/apps/${given.app.id}/events`, body })
      return fetch(`${base}/apps/${given.app.id}/events?${query}`, { method: 'POST', headers: bare, body })
    }
    same((await send(10_239)).status, 413)
    same((await send(10_238)).status, 200)
    same((await heard)[0][1].length, 10_238)
  },
  async 'names of the protocol are not triggered'() {
    for (const name of ['pusher:error', 'pusher_internal:subscription_succeeded', 'client-x'])
      same(await status(server().trigger(channel, name, 1)), 400)
  },
  async "a stranger's session is refused"() {
    const refused = await event(first.subscribe(channelOf(given.foreign)), 'pusher:subscription_error')
    same([refused.type, refused.status], ['AuthError', 403])
  },
  async 'without a key nothing is signed'() {
    const keyless = client(config.key, { channelAuthorization: { endpoint: `${base}/api/pusher/auth`, transport: 'ajax' } })
    const refused = await event(keyless.subscribe(channel), 'pusher:subscription_error')
    keyless.disconnect()
    same(refused.status, 401)
  },
  async 'a forged signature is refused, and the socket stays'() {
    const forging = client(config.key, {
      channelAuthorization: { customHandler: (_, done) => done(null, { auth: `${config.key}:${'0'.repeat(64)}` }) },
    })
    const refused = await event(forging.subscribe(channel), 'pusher:subscription_error')
    same([refused.type, refused.status, forging.connection.state], ['AuthError', 401, 'connected'])
    forging.disconnect()
  },
  async 'a wrong key is told so, and tries no more'() {
    const wrong = client('wrong')
    const states = []
    wrong.connection.bind('state_change', ({ current }) => states.push(current))
    const failed = await event(wrong.connection, 'error')
    if (wrong.connection.state !== 'disconnected') await event(wrong.connection, 'disconnected')
    same(failed.error.data.code, 4001)
    same(states, ['connecting', 'disconnected'].slice(-states.length))
  },
  async 'clients trigger nothing'() {
    const error = event(first.connection, 'error')
    first.channel(channel).trigger('client-typing', {})
    same((await error).data.code, 4301)
  },
  async 'pings are answered'() {
    const pong = event(first.connection, 'message')
    first.connection.send_event('pusher:ping', {})
    same((await pong).event, 'pusher:pong')
  },
  async 'unsubscribed'() {
    const heard = gathered(first.channel(channel), 1, ['after'])
    second.unsubscribe(channel)
    await subscribed(second, channelOf(sessions[1]))
    const own = gathered(second.channel(channelOf(sessions[1])), 1, ['after'])
    await server().trigger([channel, channelOf(sessions[1])], 'after', 1)
    same([(await heard).length, (await own).length], [1, 1])
    const info = await (await server().get({ path: `/channels/${channel}`, params: { info: 'subscription_count' } })).json()
    same(info, { occupied: true, subscription_count: 1 })
  },
}

for (const [name, run] of Object.entries(cases)) {
  let failure = ''
  try { await run() } catch (error) { failure = String(error?.stack ?? error) }
  for (const one of [first, second]) one.allChannels().forEach((each) => each.unbind_global())
  console.log(JSON.stringify({ name, failure }))
}
first.disconnect()
second.disconnect()
process.exit(0)
