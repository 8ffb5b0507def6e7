import re

from forge_chaos.solution import json_list, json_with

JOBS = ("backup", "import", "index", "rebuild", "report")


def values(rng):
    return {
        "job": f"{rng.choice(JOBS)}-{rng.randint(10, 99)}",
        "polls": rng.randint(2, 4),
        "job_result": f"R{rng.randint(10000, 99999)}",
    }


def state(text):
    found = json_with("id", "status", "progress", "result")(text)
    if found["status"] not in ("running", "done") or (found["status"] == "done") != bool(found["result"]):
        raise ValueError("not the state of a job")
    return found


async def solve(task, tools):
    name = re.search(r"the job `([^`]+)`", task.prompt)[1]

    async def started():
        shape = json_list("kind", "id", "name", "n")
        for _ in range(2):
            entries = await tools.list_ledger(kind="job", expect=shape, allow={"missing": None})
            if entries is not None:
                return next((entry for entry in entries if entry["name"] == name), None)
        raise LookupError("the ledger is gone, so nobody can tell what was started")

    job = await tools.start_job(name=name, expect=json_with("id", "status"), check=started)
    now = {"status": "running"}
    while now["status"] != "done":
        now = await tools.poll_job(id=job["id"], expect=state)
    await tools.write_file(path="result.txt", text=str(now["result"]))
    return "DONE"
