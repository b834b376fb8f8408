"""How the flows are deployed: schedules, work pools, a container file. Data, no code."""
