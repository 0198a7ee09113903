"""Two faststream subscribers of one group and 20 messages a second. Arguments: port, seconds."""
import asyncio, multiprocessing, sys, time
from faststream.redis import RedisBroker, StreamSub

port, seconds = int(sys.argv[1]), float(sys.argv[2])
url = f"redis://127.0.0.1:{port}"


async def listen(name, end):
    broker = RedisBroker(url)

    @broker.subscriber(stream=StreamSub("shop", group="billing", consumer=name))
    async def handle(message: dict) -> None:
        await asyncio.sleep(0.02)

    async with broker:
        await broker.start()
        await asyncio.sleep(max(0, end - time.time()))


def work(name, end):
    asyncio.run(listen(name, end))


async def produce(end):
    async with RedisBroker(url) as broker:
        while time.time() < end:
            await broker.publish({"n": 1}, stream="shop")
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    end = time.time() + seconds
    workers = [multiprocessing.Process(target=work, args=(name, end)) for name in ("w1", "w2")]
    for worker in workers:
        worker.start()
    time.sleep(2)
    asyncio.run(produce(end - 2))
    for worker in workers:
        worker.join()
