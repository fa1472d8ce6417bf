"""What a package puts into `share` so that a Linux desktop knows Assent: `python -m linux DIR --date YYYY-MM-DD`, with
`packaging` and the repository on the path, run by the interpreter that has the app's dependencies. All of it is made
from what is here and in the app: the same sources and the same date give the same bytes.
"""
