import type { BundledPackage } from './licences.ts';

/** Name, version and licence of a package. */
type Package = Pick<BundledPackage, 'name' | 'version' | 'licence'>;

/**
 * Returns the bill of materials of `dist`, in the JSON format of CycloneDX 1.6: the packages that are bundled. It has neither
 * a time nor a random serial number, so that the same packages make the same file.
 */
export function billOfMaterials(self: Package, bundled: readonly Package[]): object {
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: componentOf(self) },
    components: bundled.map(componentOf),
  };
}

function componentOf({ name, version, licence }: Package): object {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type: 'library', 'bom-ref': purl, name, version, licenses: [{ license: { id: licence } }], purl };
}
