"""Point reads with asyncpg: CALLERS tasks over a pool of CONNECTIONS."""
import asyncio
import json
import resource
import sys
import time

import asyncpg


def cpu_s() -> float:
    """The CPU seconds that this process has used."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def main(folder, port, callers, connections, seconds, rows):
    """Read until the time is over, and print the figures."""
    done, stop = 0, False

    async def read(seed):
        nonlocal done
        state = seed * 2654435761 & 0xFFFFFFFF
        while not stop:
            state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
            asked = 1 + (state * int(rows) >> 32)
            row = await pool.fetchrow("SELECT id, name, email, age FROM users WHERE id = $1", asked)
            if row["id"] != asked:
                sys.exit("a row is not the one that was asked for")
            done += 1

    async with asyncpg.create_pool(host=folder, port=int(port), user="katana", database="bench",
                                   min_size=int(connections), max_size=int(connections)) as pool:
        tasks = [asyncio.create_task(read(seed)) for seed in range(int(callers))]
        await asyncio.sleep(0.5)
        before, before_cpu, begin = done, cpu_s(), time.monotonic()
        await asyncio.sleep(float(seconds))
        print(json.dumps({"queries": done - before, "elapsed_s": time.monotonic() - begin,
                          "cpu_s": cpu_s() - before_cpu}))
        stop = True
        await asyncio.gather(*tasks)


asyncio.run(main(*sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
