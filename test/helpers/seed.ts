import fc from 'fast-check';

// Generates the same cases in every run. FUZZ_SEED=$RANDOM generates others.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_261_121) });
