"""Chromium without a window, told what to do through two pipes (the DevTools protocol): for what is
tested and measured of the page, and its pictures. It asks nothing of the network."""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE_S = 300
NAMES = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page of one Chromium, with a home of its own."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="safecopy-chromium-", ignore_cleanup_errors=True)
        ours, theirs = os.pipe(), os.pipe()
        self.read_end, self.write_end = theirs[0], ours[1]
        shell = f"exec 3<&{ours[0]} 4>&{theirs[1]}; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "sh", find(), "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--force-device-scale-factor=1",
             "--disable-background-networking", "--remote-debugging-pipe",
             f"--user-data-dir={self.home.name}", "about:blank"],
            pass_fds=(ours[0], theirs[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(ours[0])
        os.close(theirs[1])
        self.number, self.left, self.events, self.session = 0, b"", [], None
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"],
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Performance"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.read_end)
        os.close(self.write_end)
        self.home.cleanup()

    def message(self):
        end = time.monotonic() + PATIENCE_S
        while b"\0" not in self.left:
            if not select.select([self.read_end], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError("Chromium says nothing")
            more = os.read(self.read_end, 1 << 20)
            if not more:
                raise EOFError("Chromium has ended")
            self.left += more
        message, self.left = self.left.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.message())

    def load(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait_for("Page.loadEventFired")

    def open(self, path, fragment=""):
        """Opens a file, and returns when it is loaded, its script has run and a picture is drawn."""
        self.load("about:blank")  # from one fragment to another of a page nothing is loaded
        self.load(pathlib.Path(path).resolve().as_uri() + fragment)
        self.settle()

    def settle(self):
        """Until two pictures are drawn: what was seen before the first is built by then."""
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
                 "setTimeout(done, 50))))")

    def run(self, script):
        """What the script says, after it has kept its promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "?"))
        return answer["result"].get("value")

    def look(self, width, height, dark=False, media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def press(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def picture(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def paper(self, path):
        """The page as a PDF of A4."""
        pdf = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69,
                        marginTop=.5, marginBottom=.5, marginLeft=.5, marginRight=.5)["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(pdf))

    def requests(self):
        """The addresses asked for since the page was opened."""
        return [event["params"]["request"]["url"] for event in self.events
                if event.get("method") == "Network.requestWillBeSent"]

    def complaints(self):
        """What the page, or Chromium of it, has said: errors, and what the policy forbade."""
        said = [event["params"] for event in self.events
                if event.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded",
                                           "Runtime.consoleAPICalled")]
        return [json.dumps(one) for one in said]
