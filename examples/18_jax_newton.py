"""Newton's method for a nonlinear triangular system in JAX, differentiated at its solution.

A cascade of reservoirs over one implicit step: the storages s follow from
    F(s) = s - s_old - dt (inflow + C k s^1.5 - k s^1.5) = 0,
where C has a one for each reservoir that drains into another one.  Reservoirs are numbered
downstream, so that the Jacobian is lower triangular and each Newton step is one triangular solve.
The solution is differentiated without the iterations: by the implicit function theorem
    ds = -J(s)^-1 dF, which is the derivative of one Newton step at the solution with J held fixed.

    python 18_jax_newton.py            needs jax and trireme
"""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

import trireme as tr

jax.config.update("jax_enable_x64", True)

N, DT = 400, 0.1
rng = np.random.default_rng(1)
DOWN = np.minimum(np.arange(1, N), np.arange(N - 1) + rng.integers(1, 5, N - 1))  # drains into

# The pattern of the Jacobian: the diagonal, and an entry (downstream, upstream) per reservoir.
row = np.concatenate([np.arange(N), DOWN])
column = np.concatenate([np.arange(N), np.arange(N - 1)])
A = sp.csr_array((np.arange(len(row)) + 1.0, (row, column)), (N, N))
ORDER = A.data.astype(int) - 1  # from the order of (row, column) to A's
J = tr.jax.pattern(A)  # analysed once, outside


def residual(s, s_old, k, inflow):
    out = k * s**1.5
    from_above = jnp.zeros(N).at[DOWN].add(out[:-1])
    return s - s_old - DT * (inflow + from_above - out)


def jacobian(s, k):
    slope = DT * 1.5 * k * jnp.sqrt(s)
    return jnp.concatenate([1 + slope, -slope[:-1]])[ORDER]


def newton_step(s, s_old, k, inflow):
    # J held fixed: at the solution its own derivative is multiplied by a residual of zero.
    values = jax.lax.stop_gradient(jacobian(s, k))
    return s - tr.jax.solve(J, values, residual(s, s_old, k, inflow))


@jax.jit
def step(s_old, k, inflow):
    """The storages after a step; its derivatives cost one more solve each."""
    fixed = jax.lax.stop_gradient((s_old, k, inflow))

    def unfinished(state):
        _, change, count = state
        return (change > 1e-12) & (count < 20)

    def iterate(state):
        s, _, count = state
        fresh = newton_step(s, *fixed)
        return fresh, jnp.abs(fresh - s).max(), count + 1

    s, _, _ = jax.lax.while_loop(unfinished, iterate, (fixed[0], jnp.inf, 0))
    return newton_step(s, s_old, k, inflow)


def main():
    s_old = jnp.asarray(rng.uniform(1, 2, N))
    k, inflow = jnp.asarray(rng.uniform(0.5, 1, N)), jnp.asarray(rng.uniform(0, 1, N))
    s = step(s_old, k, inflow)
    print(f"largest residual {float(jnp.abs(residual(s, s_old, k, inflow)).max()):.1e}")

    def outlet(k):
        return step(s_old, k, inflow)[-1]
    gradient = jax.grad(outlet)(k)
    way, h = jnp.asarray(rng.standard_normal(N)), 1e-6
    difference = (outlet(k + h * way) - outlet(k - h * way)) / (2 * h)
    error = abs(float(gradient @ way / difference) - 1)
    print(f"gradient beside central differences: {error:.1e}")
    assert error < 1e-6


if __name__ == "__main__":
    main()
