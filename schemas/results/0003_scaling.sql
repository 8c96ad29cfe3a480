-- How an experiment declares that it scales: '', 'strong', or 'weak' and the dataset's parameter that is a multiple of the GPUs.
ALTER TABLE experiment ADD COLUMN scaling TEXT NOT NULL DEFAULT '';
