"""Two streaq workers and 20 tasks a second. Arguments: port, seconds."""
import asyncio, multiprocessing, sys, time
from streaq import Worker

port, seconds = int(sys.argv[1]), float(sys.argv[2])


def made():
    worker = Worker(redis_url=f"redis://127.0.0.1:{port}", queue_name="shop")

    @worker.task()
    async def handle(n: int) -> int:
        await asyncio.sleep(0.02)
        return n

    return worker, handle


def work():
    worker, _ = made()
    worker.run_sync()


async def produce(end):
    worker, handle = made()
    async with worker:
        n = 0
        while time.time() < end - 1:
            await handle.enqueue(n)
            n += 1
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    workers = [multiprocessing.Process(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    time.sleep(1)
    asyncio.run(produce(time.time() + seconds - 1))
    for worker in workers:
        worker.terminate()
        worker.join()
