import { describe, expect, it } from 'vitest';
import { similarName } from '../../src/util/similar-names.ts';

describe('a name is a misspelling of another one', () => {
  const names = ['name', 'kind', 'project_id', 'dataset', 'start_date', 'analysis_type', 'filters'];

  it.each([
    ['Name', 'name'],
    ['KIND', 'kind'],
    ['projectId', 'project_id'],
    ['ProjectID', 'project_id'],
    ['PROJECT-ID', 'project_id'],
    ['projectid', 'project_id'],
    ['_project_id', 'project_id'],
  ])('a name with another case or other separators is a misspelling, whatever its length: %s', (name, other) => {
    expect(similarName(name, names)).toBe(other);
  });

  it.each([
    ['prject_id', 'project_id'],
    ['projject_id', 'project_id'],
    ['projekt_id', 'project_id'],
    ['porject_id', 'project_id'],
    ['roject_id', 'project_id'],
    ['project_i', 'project_id'],
    ['project_idx', 'project_id'],
    ['datset', 'dataset'],
    ['analyis_type', 'analysis_type'],
    ['filtres', 'filters'],
  ])('a name of six letters and more with one other letter is a misspelling: %s', (name, other) => {
    expect(similarName(name, names)).toBe(other);
  });

  it.each(['nmae', 'nam', 'names', 'lame', 'kinds', 'mind', 'land'])(
    'a shorter name with one other letter is not a misspelling: %s',
    (name) => {
      expect(similarName(name, names)).toBeUndefined();
    },
  );

  it.each([
    'datasets',
    'project_ids',
    'projects_id',
    'projectsId',
    'projectIds',
    'start_dates',
    'filter',
    'Projects_IDs',
  ])('the plural or the singular of a name is not a misspelling: %s', (name) => {
    expect(similarName(name, names)).toBeUndefined();
  });

  it.each(['', 'id', 'prjct_id', 'project', 'title', 'set', 'date', 'toString'])('%j is not a misspelling', (name) => {
    expect(similarName(name, names)).toBeUndefined();
  });
});
