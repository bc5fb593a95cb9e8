"""All tasks by their names."""

from benchmarks.common.further_tasks import FURTHER_TASKS
from benchmarks.common.survey_tasks import SURVEY_TASKS
from benchmarks.common.tasks import TASKS

ALL_TASKS = TASKS | FURTHER_TASKS | SURVEY_TASKS
