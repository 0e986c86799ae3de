// Has a program of Node.js show the key of the Weft under test with whatever it asks of this machine, and nowhere else.
import { subscribe } from "node:diagnostics_channel";

const key = `Bearer ${process.env.WEFT_TEST_KEY}`;
const here = new Set(["127.0.0.1", "localhost"]);

subscribe("undici:request:create", ({ request }) => {
  if (here.has(new URL(request.origin).hostname)) request.addHeader("authorization", key);
});
subscribe("http.client.request.created", ({ request }) => {
  if (here.has(request.host)) request.setHeader("authorization", key);
});
