"""`waybill serve` and the client `waybill`, each with its folder.

What they start is given to `ends`, an ExitStack, so that nothing outlives the script.
"""

import hashlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

RUN_LIMIT_SECONDS = 600


class Server:
    """`waybill serve` on one port and one data folder."""

    def __init__(self, waybill, folder, tokens, ends):
        self.waybill, self.folder, self.tokens, self.ends = waybill, folder, tokens, ends
        self.port = 0
        self.process = None

    def start(self):
        """Starts it and waits for its first line. The port of a killed process may need a while."""
        log = self.folder / "server.log"
        for _ in range(50):
            with open(log, "wb") as output:
                command = [self.waybill, "serve", "--listen", f"127.0.0.1:{self.port}"]
                command += ["--data", self.folder / "server", "--token-file", self.tokens]
                self.process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
            self.ends.callback(self.process.kill)
            for _ in range(300):
                line = re.match(rb"listening on http://127\.0\.0\.1:(\d+)\n", log.read_bytes())
                if line:
                    self.port = int(line.group(1))
                    return
                if self.process.poll() is not None:
                    break
                time.sleep(0.02)
            self.kill()
            time.sleep(0.1)
        raise SystemExit(f"torture: the server does not start; it says:\n{log.read_text()}")

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def stop(self):
        """Asks it to stop; returns its exit code, or None when it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def get(self, path):
        token = self.tokens.read_text().split()[0]
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", headers={"Authorization": f"Bearer {token}"})
        return urllib.request.urlopen(request, timeout=60)

    def photos(self):
        """Every photo the server lists, through all pages."""
        found, after = [], ""
        for _ in range(1000):
            with self.get(f"/v1/photos?limit=50&after={urllib.parse.quote(after)}") as reply:
                page = json.load(reply)
            found += page["photos"]
            if page.get("next") in (None, ""):
                return found
            after = str(page["next"])
        raise SystemExit("torture: the server's list of photos has no end")

    def content_hash(self, photo_id):
        digest = hashlib.sha256()
        with self.get(f"/v1/photos/{urllib.parse.quote(photo_id)}/content") as reply:
            while piece := reply.read(1 << 20):
                digest.update(piece)
        return digest.hexdigest()


class Client:
    """`waybill` on one ledger."""

    def __init__(self, waybill, folder, url, tokens, ends, name="ledger"):
        self.waybill, self.url, self.tokens, self.ends = waybill, url, tokens, ends
        self.ledger = folder / name
        self.log = folder / f"{name}.log"

    def push(self, files):
        """Starts a push of files of one folder, from inside it: names go over as they are."""
        command = [self.waybill, "push", "--to", self.url, "--token-file", self.tokens]
        command += ["--ledger", self.ledger]
        if files:
            command += ["--", *map(os.path.basename, files)]
        output = tempfile.TemporaryFile()
        process = subprocess.Popen(
            command, cwd=os.path.dirname(files[0]) if files else None, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT)
        self.ends.callback(process.kill)
        process.output = output
        return process

    def finish(self, process, limit=RUN_LIMIT_SECONDS):
        """Waits for the end; returns exit code and everything it said."""
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.output.seek(0)
        said = process.output.read()
        process.output.close()
        with open(self.log, "ab") as log:
            log.write(said + b"\n-- exit code %d\n" % process.returncode)
        return process.returncode, said.decode(errors="replace")

    def ask(self, *arguments):
        """The JSON objects a reading command prints."""
        done = subprocess.run(
            [self.waybill, *arguments, "--ledger", self.ledger], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=RUN_LIMIT_SECONDS)
        if not done.stdout:
            raise SystemExit(f"torture: {arguments[0]} says nothing: {done.stderr.decode()}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]
