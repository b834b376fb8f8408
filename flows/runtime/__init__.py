"""What every flow runs in: servers, task runners, run records, and what becomes of workers that die.

It imports Prefect and the library, and no flow and no task.
"""
