import asyncio


def finish_order(jobs):
    finished = []

    async def job(name, steps):
        while steps:
            steps -= 1
            await asyncio.sleep(0)
        finished.append(name)

    loop = asyncio.new_event_loop()
    try:
        tasks = [loop.create_task(job(*pair)) for pair in jobs]
        if tasks:
            loop.run_until_complete(asyncio.wait(tasks))
    finally:
        loop.close()
    return finished
