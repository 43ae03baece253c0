import fc from 'fast-check';

// The same cases in every run. FUZZ_SEED=$RANDOM looks for others.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 20_261_121) });
