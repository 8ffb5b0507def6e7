"""Small agents that the table of cases names, each with what was seen in the field, or with what is right."""
