<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>
<qgis version="3.22" styleCategories="Symbology">
 <pipe>
  <rasterrenderer type="singlebandgray" grayBand="1" gradient="WhiteToBlack" opacity="1" alphaBand="-1">
   <minMaxOrigin><limits>CumulativeCut</limits><extent>WholeRaster</extent><statAccuracy>Estimated</statAccuracy><cumulativeCutLower>0.02</cumulativeCutLower><cumulativeCutUpper>0.98</cumulativeCutUpper></minMaxOrigin>
   <contrastEnhancement><minValue>0</minValue><maxValue>255</maxValue><algorithm>StretchToMinimumMaximum</algorithm></contrastEnhancement>
  </rasterrenderer>
 </pipe>
 <blendMode>6</blendMode>
</qgis>
