"""Files of an office: Word, presentations, workbooks, mail, delimited rows."""

from lab.benchmarks.files.case import Case

CASES: tuple[Case, ...] = ()
