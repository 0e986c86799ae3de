// pusher-js in Node: hears one channel until its input ends, whatever becomes of its line; a line of JSON for each event.
//
// Its argument is JSON: {config, channel}, and {base, key} of a gateway that signs, or the {secret} itself.
import { createHmac } from 'node:crypto'
import PusherJs from 'pusher-js'

const { base, key, config, channel, secret } = JSON.parse(process.argv[2])
const sign = (text) => `${config.key}:${createHmac('sha256', secret).update(text).digest('hex')}`
const pusher = new PusherJs(config.key, {
  wsHost: config.host,
  wsPort: config.port,
  forceTLS: false,
  enabledTransports: ['ws'],
  cluster: 'local',
  channelAuthorization: secret
    ? { customHandler: ({ socketId, channelName }, done) => done(null, { auth: sign(`${socketId}:${channelName}`) }) }
    : { endpoint: `${base}/api/pusher/auth`, transport: 'ajax', headers: { Authorization: `Bearer ${key}` } },
})
const tell = (name, data) => console.log(JSON.stringify({ name, data: data ?? null }))
pusher.connection.bind('error', (error) => tell('error', error.data?.code ?? error.error?.data?.code))
pusher.subscribe(channel).bind_global(tell)
process.stdin.on('end', () => process.exit(0)).resume()
