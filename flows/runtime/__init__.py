"""What every flow runs in: servers, task runners, the tasks' executor, run names, dead workers.

It imports Prefect, the tasks and the library, and no flow.
"""
