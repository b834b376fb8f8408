-- Was every judge with a planted fault convicted of that fault and of nothing else?
SELECT kind AS control, verdict, kind || ': ' || coalesce(reason, verdict) AS told
FROM verdicts
WHERE audit_id = $candidate AND "check" = 'controls' AND measure = 'convicted'
ORDER BY kind;
-- keys: the controls of this audit and of the approved one.
SELECT DISTINCT kind AS control
FROM verdicts
WHERE audit_id IN ($candidate, $baseline) AND "check" = 'controls' AND measure = 'convicted';
