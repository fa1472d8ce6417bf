"""Charts as drawings, of a part of Vega-Lite whose data stands in the source. What is not drawn here is refused by
name: a chart that shows less than it says would be a wrong one."""
