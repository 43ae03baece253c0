// Runs a server of a package, which wants a port of its own choosing, on a free port of loopback, and prints it.
import { Server } from 'node:net';
import { pathToFileURL } from 'node:url';

const listen = Server.prototype.listen;
Server.prototype.listen = function anywhere(...args) {
  const ready = args.find((arg) => typeof arg === 'function');
  return listen.call(this, 0, '127.0.0.1', () => {
    process.stdout.write(`PORT ${this.address().port}\n`);
    ready?.();
  });
};

await import(pathToFileURL(process.argv[2]).href);
