-- A score beside its probe and its original's score (mean over repeats); change = value - original_value.
SELECT * EXCLUDE (is_control) FROM all_responses WHERE NOT is_control
