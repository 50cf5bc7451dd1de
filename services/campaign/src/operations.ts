/** What is asked of this service's database beside the running service, by whoever looks after it. */
export const openOperations = () => ({
  close: async () => {},

  /** Walks that are read into projections, and the tables of those. */
  projections: { groups: ['known_groups'] },
});
