// Reads scripts from its input, JSON of pairs of texts by their names: prints the names of the pairs whose tokens are not the same.
import { tokenizer } from 'acorn'

const tokensOf = (text) =>
  [...tokenizer(text, { ecmaVersion: 'latest', sourceType: 'module' })].map(({ type, value }) => [type.label, String(value?.raw ?? value)])
let input = ''
for await (const piece of process.stdin) input += piece
const pairs = Object.entries(JSON.parse(input))
console.log(JSON.stringify(pairs.filter(([, [one, other]]) => JSON.stringify(tokensOf(one)) !== JSON.stringify(tokensOf(other))).map(([name]) => name)))
