import asyncio


async def _job(name, steps, finished):
    for _ in range(steps):
        await asyncio.sleep(0)
    finished.append(name)


async def _run(jobs):
    finished = []
    await asyncio.gather(*(_job(name, steps, finished) for name, steps in jobs))
    return finished


def finish_order(jobs):
    return asyncio.run(_run(jobs))
