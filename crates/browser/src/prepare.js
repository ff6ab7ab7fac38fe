// Runs before the scripts of a page: takes from them what would pass the gate. Pages look for these names first.
(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "WebSocket", "SharedWorker"]) {
    delete window[name];
  }
  delete Navigator.prototype.serviceWorker;
})();
