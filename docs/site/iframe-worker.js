// A Worker for pages that are opened from disk, where browsers refuse the real one: the script runs in a hidden frame.
// The search needs no more of Worker than messages both ways, `message` listeners, and importScripts(), which returns a
// promise here. On HTTP as well, the search is told when a reader goes to its field.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.base = new URL(url, document.baseURI);
      this.waiting = [];  // messages sent before the script has been loaded; then null
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      this.inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => this.load(each)), Promise.resolve());
      this.load(this.base).then(() => {
        const waiting = this.waiting;
        this.waiting = null;
        waiting.forEach((data) => this.postMessage(data));
      });
    }

    load(url) {
      return new Promise((done, failed) => {
        const script = this.inside.document.createElement("script");
        script.src = new URL(url, this.base).href;
        script.onload = done;
        script.onerror = () => failed(new Error(`cannot load ${url}`));
        this.inside.document.body.append(script);
      });
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data);
      } else {
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}

window.Worker = class extends window.Worker {
  constructor(url) {
    super(url);
    document.addEventListener("focusin", ({target}) => {
      if (target.name === "query") this.postMessage({type: "prepare"});
    });
  }
};

// SPDX-License-Identifier: Apache-2.0
