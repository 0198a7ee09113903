"""Two walrus consumers that read and acknowledge, and a producer of 20 entries a second. Arguments: port, seconds."""
import multiprocessing, sys, time
from walrus import Database

port, seconds = int(sys.argv[1]), float(sys.argv[2])


def group(name):
    return Database(host="127.0.0.1", port=port).consumer_group("billing", ["shop"], consumer=name)


def work(name, end):
    reader = group(name)
    while time.time() < end:
        for _, entries in reader.read(count=5, block=1000) or []:
            for entry, _ in entries:
                time.sleep(0.01)
                reader.shop.ack(entry)


end = time.time() + seconds
group("x1").create()
workers = [multiprocessing.Process(target=work, args=(name, end)) for name in ("x1", "x2")]
for worker in workers:
    worker.start()
stream = Database(host="127.0.0.1", port=port).Stream("shop")
while time.time() < end - 1:
    stream.add({"n": "1"})
    time.sleep(0.05)
for worker in workers:
    worker.join()
