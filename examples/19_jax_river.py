"""Muskingum routing on a river network in JAX, and the gradient by the roughness of every reach.

Per step the discharges Q of all reaches solve
    (I - C1 N) Q = C2 N Q_old + C3 Q_old + (C1 + C2) rain,
where N has an entry (reach, upstream reach): reaches are numbered downstream, and N is a tree below
the diagonal.  C1, C2 and C3 follow from the discharge of the step before: new values in each step, one
pattern.  A hundred ensemble members with other roughness are solved as a batch, by jax.vmap.

    python 19_jax_river.py             needs jax and trireme
"""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

import trireme as tr

jax.config.update("jax_enable_x64", True)

N, STEPS, MEMBERS, DT = 300, 48, 100, 3600.0
rng = np.random.default_rng(2)
DOWN = np.minimum(np.arange(1, N), np.arange(N - 1) + rng.integers(1, 6, N - 1))
LENGTH, SLOPE = rng.uniform(2000, 8000, N), rng.uniform(1e-4, 1e-3, N)
RAIN = rng.uniform(0, 2, (STEPS, 1)) * rng.uniform(0, 1, (1, N))

row = np.concatenate([np.arange(N), DOWN])
column = np.concatenate([np.arange(N), np.arange(N - 1)])
A = sp.csr_array((np.arange(len(row)) + 1.0, (row, column)), (N, N))
ORDER = A.data.astype(int) - 1
TREE = tr.jax.pattern(A)  # analysed once, outside


def upstream(Q):
    """The sum of the discharges of the reaches above each reach."""
    return jnp.zeros(N).at[DOWN].add(Q[:-1])


def one_step(roughness, Q, rain):
    # Manning's velocity in a channel whose depth grows with the discharge; celerity 5/3 of it.
    depth = (roughness * (Q + 0.1) / (20 * jnp.sqrt(SLOPE)))**0.6
    celerity = 5 / 3 * depth**(2 / 3) * jnp.sqrt(SLOPE) / roughness
    K, X = LENGTH / celerity, 0.2
    denominator = 2 * K * (1 - X) + DT
    C1, C2 = (DT - 2 * K * X) / denominator, (DT + 2 * K * X) / denominator
    C3 = (2 * K * (1 - X) - DT) / denominator
    values = jnp.concatenate([jnp.ones(N), -C1[DOWN]])[ORDER]
    b = C2 * upstream(Q) + C3 * Q + (C1 + C2) * rain
    fresh = tr.jax.solve(TREE, values, b)
    return fresh, fresh[-1]


@jax.jit
def hydrograph(roughness):
    """The discharge at the outlet after each step."""
    return jax.lax.scan(lambda Q, rain: one_step(roughness, Q, rain), jnp.ones(N), RAIN)[1]


def main():
    truth = jnp.asarray(rng.uniform(0.03, 0.06, N))
    observed = hydrograph(truth)

    @jax.jit
    def misfit(roughness):
        return jnp.sum((hydrograph(roughness) - observed)**2)
    guess = jnp.full(N, 0.045)
    gradient = jax.grad(misfit)(guess)
    way, h = jnp.asarray(rng.standard_normal(N)), 1e-6
    difference = (misfit(guess + h * way) - misfit(guess - h * way)) / (2 * h)
    error = abs(float(gradient @ way / difference) - 1)
    print(f"gradient through {STEPS} steps beside central differences: {error:.1e}")
    assert error < 1e-5

    members = jnp.asarray(rng.uniform(0.03, 0.06, (MEMBERS, N)))
    together = jax.vmap(hydrograph)(members)
    alone = hydrograph(members[7])
    worst = float(jnp.abs(together[7] / alone - 1).max())
    print(f"{MEMBERS} members as a batch; one of them beside itself alone: {worst:.1e}")
    assert worst < 1e-10


if __name__ == "__main__":
    main()
