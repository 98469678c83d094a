"""The work of tools/bench by packages of PyPI: peers.py FOLDER UPLOADS.

Prints "peer work rate" lines, rates in events a second, or "peer missing". Ten events an upload,
one event a transaction ("single") or all in one ("batch"), and a fold of the log ("fold").
"""

import os
import sys
import time

PER_UPLOAD = 10
EVENT = {"kind": "part.confirmed", "part": 0, "bytes": 3500000, "cause": "server"}


def say(peer, work, count, seconds):
    print(peer, work, round(count / seconds), flush=True)


def timed(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def eventsourcing(folder, uploads):
    from eventsourcing.application import Application
    from eventsourcing.domain import Aggregate, event

    class Upload(Aggregate):
        def __init__(self):
            self.confirmed = 0

        @event("Confirmed")
        def confirm(self, part, bytes, kind, cause):
            self.confirmed = bytes

    class Uploads(Application):
        pass

    environment = {
        "PERSISTENCE_MODULE": "eventsourcing.sqlite",
        "SQLITE_DBNAME": os.path.join(folder, "eventsourcing.sqlite"),
    }
    app = Uploads(env=environment)

    def single():
        for _ in range(uploads):
            upload = Upload()
            app.save(upload)
            for _ in range(PER_UPLOAD - 1):
                upload.confirm(**EVENT)
                app.save(upload)

    def batch():
        many = [Upload() for _ in range(uploads * 10)]
        for upload in many:
            for _ in range(PER_UPLOAD - 1):
                upload.confirm(**EVENT)
        app.save(*many)

    def fold():
        confirmed, start, seen = {}, 1, 0
        while True:
            page = app.notification_log.select(start=start, limit=10)
            if not page:
                break
            for notification in page:
                fact = app.mapper.to_domain_event(notification)
                confirmed[fact.originator_id] = getattr(fact, "bytes", 0)
            start, seen = page[-1].id + 1, seen + len(page)
        assert seen == 11 * uploads * PER_UPLOAD, seen

    count = uploads * PER_UPLOAD
    say("eventsourcing", "single", count, timed(single))
    say("eventsourcing", "batch", 10 * count, timed(batch))
    say("eventsourcing", "fold", 11 * count, timed(fold))


def persist_queue(folder, uploads):
    from persistqueue import SQLiteQueue

    queue = SQLiteQueue(os.path.join(folder, "persist-queue"), auto_commit=True)
    count = uploads * PER_UPLOAD
    say("persist-queue", "single", count, timed(lambda: [queue.put(EVENT) for _ in range(count)]))


def litequeue(folder, uploads):
    import json

    from litequeue import LiteQueue

    queue = LiteQueue(os.path.join(folder, "litequeue.sqlite"))
    count = uploads * PER_UPLOAD
    body = json.dumps(EVENT)
    say("litequeue", "single", count, timed(lambda: [queue.put(body) for _ in range(count)]))


def main():
    folder, uploads = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    peers = {
        "eventsourcing": eventsourcing, "persist-queue": persist_queue, "litequeue": litequeue,
    }
    for name, work in peers.items():
        try:
            work(folder, uploads)
        except ImportError:
            print(name, "missing", flush=True)


main()
