/** Visitors of one location and hour, and how many of them converted. */
export interface Cluster {
  readonly visitors: number;
  readonly converted: number;
}

/** What the clusters of an arm add up to. All are whole numbers, so that nothing is lost, in whatever order they are added. */
export interface ArmSums {
  readonly clusters: number;
  readonly visitors: number;
  readonly converted: number;
  /** Sums over clusters of visitors², visitors · converted and converted². */
  readonly visitorsSquared: bigint;
  readonly visitorsByConverted: bigint;
  readonly convertedSquared: bigint;
}

export function sumClusters(clusters: Iterable<Cluster>): ArmSums {
  const sums: { -readonly [name in keyof ArmSums]: ArmSums[name] } = {
    ...{ clusters: 0, visitors: 0, converted: 0 },
    ...{ visitorsSquared: 0n, visitorsByConverted: 0n, convertedSquared: 0n },
  };
  for (const { visitors, converted } of clusters) {
    sums.clusters++;
    sums.visitors += visitors;
    sums.converted += converted;
    sums.visitorsSquared += BigInt(visitors ** 2);
    sums.visitorsByConverted += BigInt(visitors * converted);
    sums.convertedSquared += BigInt(converted ** 2);
  }
  return sums;
}

/**
 * By how much more than chance the shares of clusters differ, at least 1 (J. N. K. Rao and A. J. Scott, A simple method for
 * the analysis of clustered binary data, Biometrics 48, 1992): visitors of an hour share its weather, staff and offers, so
 * each says less than one alone would.
 */
export function designEffect(arm: ArmSums): number {
  const { clusters: m, visitors: n, converted: x } = arm;
  if (m < 2 || x === 0 || x === n) return 1;
  const [bigN, bigX] = [BigInt(n), BigInt(x)];
  // n² · Σ(x_j - p · n_j)², in whole numbers: the differences would be lost in the rounding of large sums.
  const spread =
    bigN * bigN * arm.convertedSquared - 2n * bigN * bigX * arm.visitorsByConverted + bigX * bigX * arm.visitorsSquared;
  const clustered = ((m / (m - 1)) * Number(spread)) / n ** 4;
  const plain = (x * (n - x)) / n ** 3;
  return Math.max(1, clustered / plain);
}
