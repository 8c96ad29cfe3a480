-- What train, validation and test are of: accuracy where a vertex has one label, micro-F1 where it may have several. Rows
-- from before are of accuracy. The views of trials show it from migration 13 on.

ALTER TABLE evaluation ADD COLUMN metric TEXT NOT NULL DEFAULT 'accuracy' CHECK (metric IN ('accuracy', 'micro-F1'));

-- What train_accuracy, validation_accuracy and test_accuracy are of; NULL: nothing was evaluated.
ALTER TABLE trial ADD COLUMN score_metric TEXT CHECK (score_metric IN ('accuracy', 'micro-F1'));
UPDATE trial SET score_metric = 'accuracy' WHERE EXISTS (SELECT 1 FROM evaluation e WHERE e.trial_id = trial.id);

DROP VIEW evaluations;
CREATE VIEW evaluations AS
SELECT t.uuid AS trial, c.digest AS cell, e.epoch, e.metric, e.train, e.validation, e.test, e.wall_s
FROM trial t
JOIN cell c ON c.id = t.cell_id
JOIN evaluation e ON e.trial_id = t.id;
