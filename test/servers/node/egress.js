// A server that fetches what its arguments name, with guards of addresses that let something through, as long as it is not
// told that they are "fixed":
//
//   node egress.js [fixed]
//
// fetch_page looks for private addresses in the text of a host, fetch_text knows IPv4 alone, fetch_feed resolves the host and
// connects to what another look-up says, fetch_image does not look where it is redirected, and fetch_release looks for its
// host anywhere in a URL. It needs no package.
import { lookup as resolve } from 'node:dns';
import { promises as dns } from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';

import { speak } from './stdio.js';

const fixed = process.argv[2] === 'fixed';
const releases = 'releases.example.com';

const reserved = new net.BlockList();
for (const [address, prefix] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.168.0.0', 16]]) {
  reserved.addSubnet(address, prefix);
}
for (const [address, prefix] of [['::', 96], ['64:ff9b::', 96], ['2002::', 16], ['fc00::', 7], ['fe80::', 10]]) reserved.addSubnet(address, prefix, 'ipv6');
const isPrivate = (address) => reserved.check(address.replace(/^::ffff:(\d)/, '$1'), net.isIPv6(address) && !/^::ffff:\d/.test(address) ? 'ipv6' : 'ipv4');

// pinned looks at the address that is connected to.
const pinned = (host, options, done) =>
  resolve(host, { ...options, all: true }, (error, all) => {
    if (!error && all.some(({ address }) => isPrivate(address))) error = new Error('private addresses are not allowed');
    if (error) return done(error);
    return options.all ? done(null, all) : done(null, all[0].address, all[0].family);
  });

function fetchPublic(url, left = 3) {
  const { protocol, hostname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!['http:', 'https:'].includes(protocol)) throw new Error('only http and https are allowed');
  if (net.isIP(host) && (isPrivate(host) || host.startsWith('::ffff:')) || left === 0) throw new Error('private addresses are not allowed');
  return new Promise((done, failed) => {
    (protocol === 'https:' ? https : http)
      .get(url, { lookup: pinned, timeout: 3000 }, (answer) => {
        if (answer.headers.location) {
          answer.destroy();
          return done(Promise.resolve().then(() => fetchPublic(new URL(answer.headers.location, url).href, left - 1)));
        }
        let text = '';
        answer.on('data', (part) => (text += part)).on('end', () => done(text.slice(0, 2000)));
      })
      .on('error', failed)
      .on('timeout', function () { this.destroy(new Error('timed out')); });
  });
}

async function fetchAny(url, redirect = 'error') {
  const answer = await fetch(url, { redirect, signal: AbortSignal.timeout(3000) });
  return (await answer.text()).slice(0, 2000);
}

const forbid = (is) => { if (is) throw new Error('private addresses are not allowed'); };

const tools = {
  fetch_page: {
    description: 'Fetches a web page. Requests to private addresses are blocked.',
    call(url) {
      forbid(/^https?:\/\/(localhost|127\.|10\.|192\.168\.|169\.254\.)/.test(url));
      return fetchAny(url);
    },
  },
  fetch_text: {
    description: 'Fetches the text of a web page.',
    call(url) {
      const { hostname } = new URL(url);
      forbid(hostname === 'localhost' || net.isIPv4(hostname) && isPrivate(hostname));
      return fetchAny(url);
    },
  },
  fetch_feed: {
    description: 'Fetches a feed from the web.',
    async call(url) {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      forbid(isPrivate((await dns.lookup(host)).address) || host.includes('ffff'));
      return fetchAny(url);
    },
  },
  fetch_image: {
    description: 'Fetches an image from the web.',
    async call(url) {
      const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
      for (const { address } of await dns.lookup(host, { all: true })) forbid(isPrivate(address) || address.includes('ffff'));
      return fetchAny(url, 'follow');
    },
  },
  fetch_release: {
    description: `Fetches the notes of a release, such as \`https://${releases}/notes\`.`,
    call(url) {
      if (fixed ? new URL(url).host !== releases : !url.includes(releases)) throw new Error(`the host is not allowed: try https://${releases}/notes`);
      return fetchAny(url);
    },
  },
};

speak('egress', {
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'egress', version: '1.0.0' } }),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { description }]) => ({
      name, description, inputSchema: { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] },
    })),
  }),
  async 'tools/call'({ name, arguments: { url } }) {
    try {
      const text = await (fixed && name !== 'fetch_release' ? fetchPublic(url) : tools[name].call(url));
      return { content: [{ type: 'text', text }] };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: error.message }] };
    }
  },
});
