import asyncio


async def worker(name, steps, queue):
    for _ in range(steps):
        await asyncio.sleep(0)
    queue.put_nowait(name)


async def collect(jobs):
    queue = asyncio.Queue()
    tasks = [asyncio.create_task(worker(n, s, queue)) for n, s in jobs]
    for task in tasks:
        await task
    return [queue.get_nowait() for _ in tasks]


def finish_order(jobs):
    return asyncio.run(collect(jobs))
