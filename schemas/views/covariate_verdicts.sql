-- The ladders of each judge's newest audit: which surface changes move its score, and which it misses.
SELECT judge, axis, "check", measure, kind, verdict, finding, "value", ci_low, ci_high, n, n_needed, provisional, reason
FROM verdicts_latest
WHERE "check" IN ('premature', 'jitter', 'top_response')
ORDER BY judge, axis, "check", measure
