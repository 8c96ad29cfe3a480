-- What a scheme says that a rank holds, beside what its device counted at the end of set-up (memory_bytes). The statement
-- leaves out prepared sparse matrices, whose form is the kernel's; kernels that count them hold more.

ALTER TABLE trial_rank ADD COLUMN stated_memory_bytes INTEGER;
