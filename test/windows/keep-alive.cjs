// Wine 8 fails to connect a socket whose keep-alive was set before; Windows does not.
const { Socket } = require('node:net');

const { setKeepAlive } = Socket.prototype;
Socket.prototype.setKeepAlive = function (...args) {
  return this.connecting ? this : setKeepAlive.apply(this, args);
};
